"""torch.utils.cpp_extension: names to import; calls raise, since extensions are compiled for PyTorch."""
from __future__ import annotations

from .._missing.unshared import unshared

CUDA_HOME = ROCM_HOME = SYCL_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False
unshared(
    __name__,
    "BuildExtension ",
    "CUDAExtension CppExtension SyclExtension check_compiler_is_gcc check_compiler_ok_for_platform get_cxx_compiler "
    "get_compiler_abi_compatibility_and_version get_default_build_root include_paths is_ninja_available library_paths load "
    "load_inline verify_ninja_availability ",
    "extensions in C++ are compiled for PyTorch's library, and load there alone; torch.library defines operators in Python")
