"""Bokeh theme: figures that look as the page does, dark or light."""

from __future__ import annotations

from bokeh.core.properties import value
from bokeh.themes import Theme

_FONT = "system-ui, sans-serif"  # Bokeh's own, Helvetica, is not everywhere, and Firefox then takes one with serifs
_THEMES: dict[bool, Theme] = {}


def page_theme(dark: bool) -> Theme:
    """Figures without a background of their own, with words and lines that can be read on the page's."""
    if dark not in _THEMES:
        ink, faint, paper = ("#e0e0e0", "#4a4a4a", "#1e1e1e") if dark else ("#212121", "#dddddd", "#ffffff")
        words = {"text_color": ink, "text_font": _FONT}
        axis = {
            "axis_label_text_color": ink,
            "major_label_text_color": ink,
            "axis_line_color": ink,
            "major_tick_line_color": ink,
            "minor_tick_line_color": None,
            "axis_label_text_font": _FONT,
            "axis_label_text_font_style": "normal",
            "major_label_text_font": _FONT,
        }
        _THEMES[dark] = Theme(
            json={
                "attrs": {
                    "Plot": {
                        "background_fill_alpha": 0.0,
                        "border_fill_alpha": 0.0,
                        "outline_line_color": faint,
                    },
                    "Axis": axis,
                    "Grid": {"grid_line_color": faint},
                    "Title": words,
                    "Text": {"text_font": value(_FONT)},
                    "Legend": {
                        "label_text_color": ink,
                        "label_text_font": _FONT,
                        "background_fill_color": paper,
                        "background_fill_alpha": 0.9,
                        "border_line_color": faint,
                    },
                    "ColorBar": {
                        "major_label_text_color": ink,
                        "major_label_text_font": _FONT,
                        "background_fill_alpha": 0.0,
                        "title_text_color": ink,
                        "title_text_font": _FONT,
                    },
                }
            }
        )
    return _THEMES[dark]
