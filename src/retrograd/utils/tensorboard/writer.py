"""SummaryWriter: what a program logs becomes events.  Their fields are protocol buffers of the package `tensorboard`.

log_dir            the folder of the files; None: runs/, and in it a folder named after time and machine
max_queue, flush_secs   how many events, or seconds, may wait to be written
filename_suffix    the end of the files' names
tag, main_tag      what TensorBoard calls it
global_step, step  which step of training it belongs to
walltime           seconds since 1970; None: now
scalar_value       a number or a tensor of one element
tag_scalar_dict    {tag: number}
max_bins           how many bins may be left; None: all
min, max, num, sum, sum_squares   least and largest value, how many, their sum, that of their squares
bucket_limits, bucket_counts      the upper end of each bucket, and how many values it has
img_tensor         a tensor or an array, in the order of dimensions that dataformats names
dataformats        such as 'CHW', 'HWC', 'HW' or 'NCHW'
text_string        the text
hparam_dict        {name: bool, number or str}
metric_dict        {name: number}
hparam_domain_discrete   {name: the values that it may have}
run_name           the folder of the run; None: the time
"""
from __future__ import annotations

import io
import os
import socket
import time
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

import numpy as np

from ..._engine.tensor import TensorBase
from ..._missing import late_names

late_names(__name__)
__all__ = ["FileWriter", "SummaryWriter"]
GROWTH = 1.1            # of the buckets of a histogram

if find_spec("tensorboard") is None and find_spec("tensorboardX") is None:
    raise ModuleNotFoundError(
        "No module named 'tensorboard'\ntorch.utils.tensorboard needs it, or tensorboardX: pip install tensorboard",
        name="tensorboard")


def numbers(x: Any) -> Any:
    """A tensor, number or array as an array."""
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if isinstance(x, TensorBase):
        values: Any = x
        return (values.half() if str(values.dtype).endswith("bfloat16") else values).detach().numpy()
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")


def proto(name: str) -> Any:
    """A class of tensorboard.compat.proto, by file and name."""
    file, _, kind = name.partition(".")
    return getattr(import_module(f"tensorboard.compat.proto.{file}_pb2"), kind)


def summary(tag: str, **fields: Any) -> Any:
    kind = proto("summary.Summary")
    return kind(value=[kind.Value(tag=tag, **fields)])


def plugin(name: str, content: bytes = b"") -> Any:
    kind = proto("summary.SummaryMetadata")
    return kind(plugin_data=kind.PluginData(plugin_name=name, content=content))


def histogram(values: Any, bins: Any, max_bins: int | None) -> Any:
    """The fields of a histogram: buckets that hold something, and one empty bucket before and after them."""
    values = values.astype(float).reshape(-1)
    if not values.size:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.add.reduceat(counts, range(0, len(counts), step))
        limits = np.append(limits[:-1:step], limits[-1])
    [full] = np.nonzero(counts)
    if not full.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = int(full[0]), int(full[-1])
    kept = counts[first - 1:last + 1] if first else np.concatenate([[0], counts[:last + 1]])
    return proto("summary.HistogramProto")(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(), sum_squares=values.dot(values),
        bucket_limit=limits[first:last + 2].tolist(), bucket=kept.tolist())


def picture(image: Any, form: str) -> Any:
    """A PNG of an image, or of a batch of them side by side, whose dims are named: HW, CHW, HWC, NCHW, ..."""
    from PIL import Image

    values = numbers(image)
    if values.ndim != len(form):
        raise AssertionError(f"size of input tensor and input format are different.         "
                             f"tensor shape: {values.shape}, input_format: {form}")
    whole = values if values.dtype == np.uint8 else (values * 255).astype(np.float32)
    form = form.upper()
    if "N" in form:
        batch = whole.transpose([form.index(dim) for dim in "NHWC"])
        n, height, width, planes = batch.shape
        wide = min(n, 8)
        grid = np.zeros((-(-n // wide) * wide, height, width, planes), batch.dtype)
        grid[:n] = batch
        whole = grid.reshape(-1, wide, height, width, planes).swapaxes(1, 2).reshape(-1, wide * width, planes)
    elif len(form) == 3:
        whole = whole.transpose([form.index(dim) for dim in "HWC"])
    else:
        whole = whole[:, :, None]
    pixels = whole.clip(0, 255).astype(np.uint8)
    if pixels.shape[2] == 1:
        pixels = pixels.repeat(3, 2)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return proto("summary.Summary").Image(
        height=pixels.shape[0], width=pixels.shape[1], colorspace=pixels.shape[2], encoded_image_string=file.getvalue())


class FileWriter:
    """Events, one after the other, in a new file of a folder."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        files = import_module("tensorboard.summary.writer.event_file_writer")
        self.event_writer = files.EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write an event that holds a summary."""
        self.add_event(proto("event.Event")(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Open it again."""
        self.event_writer.reopen()


class SummaryWriter:
    """Logs scalars, histograms, images, figures, texts and hyperparameters in files that TensorBoard shows.

    log_dir is runs/TIME_HOST and the comment unless it is given; purge_step: from which step TensorBoard forgets what
    other files say.   NotImplementedError for graphs, videos, sounds, embeddings, curves and meshes.
    """

    def __init__(self, log_dir: Any = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10,
                 flush_secs: int = 120, filename_suffix: str = "") -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}")
        self.log_dir, self.purge_step = log_dir, purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer: Any = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()
        buckets = [1e-12]
        while (larger := buckets[-1] * GROWTH) < 1e20:
            buckets.append(larger)
        self.default_bins = [-b for b in reversed(buckets)] + [0] + buckets

    def _file(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._file(str(self.log_dir))
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                event, log = proto("event.Event"), proto("event.SessionLog")
                self.file_writer.add_event(event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(event(step=self.purge_step, session_log=log(status=log.START)))
                self.purge_step = None
        found: FileWriter = self.file_writer
        return found

    def get_logdir(self) -> Any:
        """The folder of the files."""
        return self.log_dir

    def _add(self, made: Any, step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(made, step, walltime)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
                   new_style: bool = False, double_precision: bool = False) -> None:
        """A number; new_style: as a tensor, of float64 with double_precision."""
        value = numbers(scalar_value).squeeze()
        if value.ndim:
            raise AssertionError(f"Tensor should contain one element (0 dimensions).             "
                                 f"Was given size: {value.size} and {value.ndim} dimensions.")
        if new_style:
            kind = {"double_val": [float(value)], "dtype": "DT_DOUBLE"} if double_precision else {
                "float_val": [float(value)], "dtype": "DT_FLOAT"}
            made = summary(tag, tensor=proto("tensor.TensorProto")(**kind), metadata=plugin("scalars"))
        else:
            made = summary(tag, simple_value=float(value))
        self._add(made, global_step, walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None,
                    walltime: float | None = None) -> None:
        """Numbers that are shown in one plot: each in a file of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            path = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if path not in self.all_writers:
                self.all_writers[path] = self._file(path)
            self.all_writers[path].add_summary(
                summary(main_tag, simple_value=float(numbers(value).squeeze())), global_step, walltime)

    def add_histogram(self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """How values are distributed over bins: "tensorflow"'s, or np.histogram's."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summary(tag, histo=histogram(numbers(values), bins, max_bins)), global_step, walltime)

    def add_histogram_raw(self, tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
                          bucket_counts: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """A histogram of a program's own."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summary(tag, histo=proto("summary.HistogramProto")(
            min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits, bucket=bucket_counts)),
            global_step, walltime)

    def add_image(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                  dataformats: str = "CHW") -> None:
        """An image: floats between 0 and 1, or bytes.  Needs Pillow."""
        self._add(summary(tag, image=picture(img_tensor, dataformats)), global_step, walltime)

    def add_images(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """A batch of images, side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """A figure of matplotlib, or several, drawn; closed afterwards, unless close=False."""
        from matplotlib import pyplot
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        drawn = []
        for one in figure if isinstance(figure, list) else [figure]:
            canvas: Any = FigureCanvasAgg(one)
            canvas.draw()
            drawn.append(np.asarray(canvas.buffer_rgba())[:, :, :3])
            if close:
                pyplot.close(one)
        pixels, form = (np.stack(drawn), "NHWC") if isinstance(figure, list) else (drawn[0], "HWC")
        self.add_image(tag, pixels, global_step, walltime, form)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """A text, in Markdown."""
        shape = proto("tensor_shape.TensorShapeProto")
        made = proto("tensor.TensorProto")(
            dtype="DT_STRING", string_val=[text_string.encode()], tensor_shape=shape(dim=[shape.Dim(size=1)]))
        metadata = plugin("text", import_module("tensorboard.plugins.text.plugin_data_pb2").TextPluginData(
            version=0).SerializeToString())
        self._add(summary(f"{tag}/text_summary", tensor=made, metadata=metadata), global_step, walltime)

    def add_hparams(self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
                    hparam_domain_discrete: dict[str, list[Any]] | None = None, run_name: str | None = None,
                    global_step: Any = None) -> None:
        """Hyperparameters and the metrics they led to, in a run of their own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        if hparam_domain_discrete:
            raise NotImplementedError("SummaryWriter.add_hparams: retrograd's takes no hparam_domain_discrete")
        hparams = import_module("tensorboard.plugins.hparams.summary_v2")
        values = {name: float(numbers(v).squeeze()) if isinstance(v, TensorBase) else v
                  for name, v in hparam_dict.items() if v is not None}
        for v in values.values():
            if not isinstance(v, (int, float, str)):
                raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(folder) as run:
            run._add(hparams.hparams_config_pb(
                [hparams.HParam(name) for name in values], [hparams.Metric(name) for name in metric_dict]), global_step, None)
            run._add(hparams.hparams_pb(values), global_step, None)
            data, tags = (import_module(f"tensorboard.plugins.hparams.{name}") for name in ("plugin_data_pb2", "metadata"))
            end = data.HParamsPluginData(session_end_info=data.SessionEndInfo(status="STATUS_SUCCESS"), version=0)
            run._add(summary(tags.SESSION_END_INFO_TAG, metadata=plugin("hparams", end.SerializeToString())), global_step, None)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def _refused(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError."""
        raise NotImplementedError(
            "retrograd's SummaryWriter logs scalars, histograms, images, figures, texts and hyperparameters")

    add_graph = add_onnx_graph = add_video = add_audio = add_embedding = add_mesh = add_tensor = _refused
    add_pr_curve = add_pr_curve_raw = add_image_with_boxes = add_custom_scalars = _refused
    add_custom_scalars_marginchart = add_custom_scalars_multilinechart = _refused

    def flush(self) -> None:
        """Write what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Close the files; what is logged later opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


if find_spec("tensorboard") is None:
    _x: Any = import_module("tensorboardX")
    FileWriter, SummaryWriter = _x.FileWriter, _x.SummaryWriter      # type: ignore[misc]
