"""Where the Jupyter extension of VS Code looks for widgets that it does not bring itself."""


def widget_scripts(share):
    """Module -> script, of a share/jupyter folder: it reads every extension.js there, and runs none of them.

    Old and new versions of it differ in which braces they look into: the third ones, or the last.
    """
    found = {}
    for entry in sorted((share / "nbextensions").glob("*/extension.js")):
        text = entry.read_text()
        start = text.index("{", text.index("require.config({"))
        config = text[start : text.index(")", start)]
        assert config.count("{") == 3, f"{entry}: old and new versions read different things in {config}"
        for mapping in config.split("{")[3].split("}")[0].split(","):
            module, _, place = (part.strip().strip("\"'") for part in mapping.partition(":"))
            found[module] = share / f"{place}.js"
    return found
