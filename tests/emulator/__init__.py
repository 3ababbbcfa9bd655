"""Runs CUDA C++ kernels on the CPU, one fiber per CUDA thread: see cuda_emu.h (the language), runtime.cpp (fibers,
scheduler, errors), emu.py (launching from Python, with compiling.py) and device.py (bitblas on it)."""
