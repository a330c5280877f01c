"""The layout of a figure: matplotlib's constrained layout, with one measurement of the text instead of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Room for ticks, labels and titles around axes, in inches: left, bottom, right and top.
_ROOM_IN = (0.6, 0.5, 0.05, 0.25)


class Layout(ConstrainedLayoutEngine):
    """Constrained layout that measures each axes once, when it nearly has its final size.

    Constrained layout places the axes twice, since the ticks depend on the size. Measuring text takes most of its time.
    The first placement therefore uses an estimate of the room around the axes. If the final size has other ticks than
    the measured one, their labels may need more room: the axes are then placed once more.
    """

    def execute(self, fig: Figure) -> Any:
        """Places the axes of `fig`."""
        boxes = [_EstimatedOnce(axes, fig.dpi) for axes in fig.axes]
        for axes, box in zip(fig.axes, boxes, strict=True):
            vars(axes)["get_tightbbox"] = box
        try:
            placed = super().execute(fig)
            return super().execute(fig) if any(box.ticks != box.measured_ticks for box in boxes) else placed
        finally:
            for axes in fig.axes:
                del vars(axes)["get_tightbbox"]


class _EstimatedOnce:
    """`Axes.get_tightbbox` whose first answer is an estimate."""

    def __init__(self, axes: Axes, dpi: float) -> None:
        self._axes = axes
        self._dpi = dpi
        self._measure = axes.get_tightbbox
        self._estimated = False
        self.measured_ticks: list[list[str]] = []

    @property
    def ticks(self) -> list[list[str]]:
        """The labels of the ticks at the present size."""
        both = (self._axes.xaxis, self._axes.yaxis)
        return [axis.get_major_formatter().format_ticks(list(axis.get_majorticklocs())) for axis in both]

    def __call__(self, renderer: Any = None, **options: Any) -> Any:
        if self._estimated:
            self.measured_ticks = self.ticks
            return self._measure(renderer, bbox_extra_artists=self._outside(), **options)
        self._estimated = True
        left, bottom, right, top = (inches * self._dpi for inches in _ROOM_IN)
        inside = self._axes.get_window_extent(renderer)
        around = Bbox.from_extents(inside.x0 - left, inside.y0 - bottom, inside.x1 + right, inside.y1 + top)
        legend = self._axes.get_legend()
        beside = None if legend is None else legend.get_tightbbox(renderer)
        return around if beside is None else Bbox.union([around, beside])

    def _outside(self) -> list[Any]:
        """The artists that may reach beyond the axes. The room of ticks and labels is measured with their axis."""
        spines = set(self._axes.spines.values())
        return [artist for artist in self._axes.get_default_bbox_extra_artists() if artist not in spines]
