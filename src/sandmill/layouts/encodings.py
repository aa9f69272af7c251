"""The same pictures in another format."""

from io import BytesIO


def tiff_of_jpeg(contents: list[bytes]) -> list[bytes]:
    """Decode JPEG files and write their pixels as TIFF files without compression."""
    from PIL import Image

    files = []
    for content in contents:
        out = BytesIO()
        with Image.open(BytesIO(content)) as picture:
            Image.frombytes(picture.mode, picture.size, picture.tobytes()).save(out, "tiff")
        files.append(out.getvalue())
    return files
