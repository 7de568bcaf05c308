"""Types of devices by name: their memory, their peaks, and what of them large products reach.

Peaks are dense, as vendors state them. What products reach was measured: shares by which the roofline is least off over
the products of 512 and more rows and columns in the tables of aiconfigurator-core 0.12 (TensorRT-LLM, SGLang and vLLM),
4 to 10 % at the median.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tiger.model.units import GIGABYTE
from tiger.training.precision import Precision

# FLOP of a TFLOP.
TERA = 1e12
# Of the peak in 16 bits, what products reach on devices without tables: that of most with tables.
USUAL_SHARE = 0.78
# Of the peak in 8 bits, as above; there operands also have to be cast, which is counted apart.
USUAL_SHARE_8 = 0.83


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """Hold a type of device: memory in GB, peaks in TFLOP/s, and the bandwidth of its memory in GB/s.

    `tflops` are in 16 bits, `tflops_8` in 8 (default: those in 16, where there are no faster ones), `tflops_32` for
    numbers of 32 bits (default: half of those in 16). Of the first two products reach `share` and `share_8`.
    """

    name: str
    memory_gb: float
    tflops: float
    bandwidth_gb: float
    tflops_8: float | None = None
    tflops_32: float | None = None
    share: float = USUAL_SHARE
    share_8: float = USUAL_SHARE_8

    @property
    def memory_bytes(self) -> float:
        """Return the memory in bytes."""
        return self.memory_gb * GIGABYTE

    def peak(self, dtype: Precision) -> float:
        """Return the peak of a type of 16 bits or more, in FLOP a second."""
        return (self.tflops if dtype != "fp32" else self.tflops_32 or self.tflops / 2) * TERA

    @property
    def speed(self) -> float:
        """Return the peak in 16 bits over that of an H100, of a type with a name in a few digits."""
        share = self.tflops / H100.tflops
        return round(share, 4) if self.name else share

    def products(self, dtype: Precision) -> float:
        """Return the FLOP that large products of a type do a second."""
        match dtype:
            case "fp8" if self.tflops_8 is not None:
                return self.share_8 * self.tflops_8 * TERA
            case _:
                return self.share * self.peak(dtype)

    def casts(self, dtype: Precision) -> bool:
        """Return whether operands are cast before products of a type."""
        return dtype == "fp8" and self.tflops_8 is not None


# NVIDIA H100 SXM datasheet: 1,979 TFLOP/s in 16 bits with sparsity.
H100 = Accelerator(name="h100", memory_gb=80, tflops=989.4, tflops_8=1978.9, bandwidth_gb=3350)
_ALL = (
    H100,
    # NVIDIA H200 datasheet.
    Accelerator(name="h200", memory_gb=141, tflops=989.4, tflops_8=1978.9, bandwidth_gb=4800),
    # NVIDIA DGX B200 datasheet: 1,440 GB and 64 TB/s in all; HGX B200: 36 PFLOP/s in 16 bits with sparsity.
    Accelerator(name="b200", memory_gb=180, tflops=2250, tflops_8=4500, bandwidth_gb=8000, share=0.7, share_8=0.66),
    # NVIDIA DGX B300 datasheet: 2.3 TB and 62 TB/s in all; HGX B300: 36 PFLOP/s in 16 bits with sparsity.
    Accelerator(name="b300", memory_gb=288, tflops=2250, tflops_8=4500, bandwidth_gb=7750, share=0.73, share_8=0.68),
    # NVIDIA GB200 and GB300 NVL72 datasheets: 13.4 and 20 TB and 576 TB/s in all, 360 PFLOP/s in 16 bits with sparsity.
    Accelerator(name="gb200", memory_gb=186, tflops=2500, tflops_8=5000, bandwidth_gb=8000, share=0.67, share_8=0.63),
    Accelerator(name="gb300", memory_gb=277, tflops=2500, tflops_8=5000, bandwidth_gb=8000, share=0.76, share_8=0.68),
    # NVIDIA A100 SXM 80 GB datasheet.
    Accelerator(name="a100", memory_gb=80, tflops=312, bandwidth_gb=2039, share=0.8),
    # NVIDIA V100 SXM2 32 GB datasheet; numbers of 32 bits have no tensor cores there.
    Accelerator(name="v100", memory_gb=32, tflops=125, tflops_32=15.7, bandwidth_gb=900),
    # AMD Instinct MI300X data sheet.
    Accelerator(name="mi300x", memory_gb=192, tflops=1307.4, tflops_8=2614.9, bandwidth_gb=5300),
    # NVIDIA L40S datasheet: 733 and 1,466 TFLOP/s with sparsity.
    Accelerator(name="l40s", memory_gb=48, tflops=362, tflops_8=733, bandwidth_gb=864, share=0.57, share_8=0.47),
    # NVIDIA L4 datasheet: 242 and 485 TFLOP/s with sparsity.
    Accelerator(name="l4", memory_gb=24, tflops=121, tflops_8=242.5, bandwidth_gb=300),
    # NVIDIA RTX PRO 6000 Blackwell Server Edition datasheet.
    Accelerator(name="rtx-pro-6000", memory_gb=96, tflops=467.8, tflops_8=935.6, bandwidth_gb=1792, share=0.8),
    # NVIDIA's Ada, Blackwell and Ampere GA102 whitepapers, dense in 16 bits added up in 32 (of the 3060 by its 112
    # tensor cores).
    Accelerator(name="rtx4090", memory_gb=24, tflops=165.2, tflops_8=330.3, bandwidth_gb=1008),
    Accelerator(name="rtx5090", memory_gb=32, tflops=209.5, tflops_8=419, bandwidth_gb=1792),
    Accelerator(name="rtx3060", memory_gb=12, tflops=25.4, bandwidth_gb=360),
    # Apple's press releases of March 2022 and June 2023.
    Accelerator(name="m1-ultra", memory_gb=128, tflops=21, bandwidth_gb=800),
    Accelerator(name="m2-ultra", memory_gb=192, tflops=27.2, bandwidth_gb=800),
)
ACCELERATORS: Mapping[str, Accelerator] = {each.name: each for each in _ALL}
