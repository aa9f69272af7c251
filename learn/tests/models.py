"""A tokenizer of bytes with the marks of a chat, and a random model in a folder of transformers."""

from pathlib import Path

from sandmill_learn.lm import demonstrations


def write_tokenizer(path: Path) -> None:
    """Write a tokenizer."""
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    # Words of scripts and of prose, so that demonstrations fit into an answer, and prompts into the context.
    sources = (Path(demonstrations.__file__), Path(__file__).parents[2] / "docs" / "reading.md")
    lines = [line for source in sources for line in source.read_text(encoding="utf-8").splitlines()]
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=3000, initial_alphabet=sorted(alphabet), special_tokens=["<|im_start|>", "<|im_end|>"]
    )
    made.train_from_iterator(lines * 5, trainer)
    made.save(str(path))


def write_model(tokenizer: Path, folder: Path) -> Path:
    """Write a random Llama of 0.1 million weights with a tokenizer, and return its folder."""
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer), eos_token="<|im_end|>")
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=len(made), num_key_value_heads=2, tie_word_embeddings=True, **sizes)
    LlamaForCausalLM(config).save_pretrained(folder)
    made.save_pretrained(folder)
    return folder
