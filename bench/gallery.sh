#!/usr/bin/env bash
# A picture for every example: time, bytes and bandwidth, unfused, fused and as a copy. examples/README.md shows those of an H200.
# Usage: bench/gallery.sh SMELT FOLDER [options of smelt bench]
set -uo pipefail
smelt=$(realpath "${1:?usage: bench/gallery.sh SMELT FOLDER [options of smelt bench]}") folder=${2:?usage: bench/gallery.sh SMELT FOLDER}
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/../examples" || exit 2
mkdir -p "$folder" && folder=$(realpath "$folder")
status=0
picture() { # picture EXAMPLE ARGUMENTS...
  local name=$1
  shift
  "$smelt" bench "$name.smelt" --plot "$folder/$name.svg" --json "$folder/$name.json" "$@" "${common[@]}" || status=1
}
common=("$@")
list=20*f32[1048576]
picture adamw -i "params=$list" -i "grads=$list" -i "m=$list" -i "v=20*uniform:f32[1048576]" -i lr=0.001 -i step=3
picture add_mul_exp -i x=f32[20000000] -i y=f32[20000000]
picture black_scholes -i 'spot=uniform:f32[10000000]' -i 'strike=uniform:f32[10000000]' -i 'years=uniform:f32[10000000]' -i rate=0.1 -i volatility=0.2
picture blur_sobel --size H=8192 --size W=8192
picture conv_bias_relu --size B=16 --size H=512 --size W=512
picture cross_entropy --size B=8192 --size C=32000 -i 'targets=zeros:i64[8192]'
picture cumsum -i x=f32[16384,16384]
picture dropout_relu --size N=67108864 -i seed=1
picture embedding --size V=50257 --size D=1024 --size B=16 --size S=2048 -i 'ids=iota:i32[16,2048]'
picture embedding_gradient --size N=32768 --size D=1024 -i 'ids=iota:i32[32768]' -i scale=0.5
picture gelu_bias --size B=16384 --size C=4096
picture heat --size H=8192 --size W=8192
picture histogram -i 'picture=uniform:f32[8192,8192]'
picture horizontal -i 'xs=64*f32[65536]'
picture loops --size N=67108864
picture max_pool --size B=32 --size C=64 --size H=256 --size W=256
picture quantize_int8 -i x=f32[50000000]
picture relu_layernorm --size B=16384 --size C=4096
picture rmsnorm --size B=16384 --size C=4096
picture rotary --size B=16 --size H=32 --size S=2048 -i 'positions=iota:i32[2048]'
picture row_sums --size B=16384 --size C=4096
picture softclip --size B=65536
picture softmax --size B=16384 --size C=4096
picture top_p -i logits=f32[4096,32000]
exit $status
