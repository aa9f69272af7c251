"""What people read: the ending table of a build, the funnel, the card and the page of a release."""
