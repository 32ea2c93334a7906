"""The importer of timed kernels and collectives on a small synthetic raw folder."""

import pytest

from refresh import profiling
from refresh.tables import Dropped, RefreshError, sift

TIMES = (
    "emb",
    "input_layernorm",
    "attn_pre_proj",
    "attn_rope",
    "attn_post_proj",
    "post_attention_layernorm",
    "mlp_up_proj",
    "mlp_act",
    "mlp_down_proj",
    "add",
)
SHAPE = {
    "n_head": 64,
    "n_kv_head": 8,
    "n_embd": 8192,
    "n_expanded_embd": 28672,
    "vocab_size": 32768,
    "use_gated_mlp": "True",
}
KERNEL_FILES = (
    "a100_meta-llama_Llama-2-70b-hf",
    "a100_meta-llama_Meta-Llama-3-8B",
    "h100_meta-llama_Llama-2-70b-hf",
)
STAS = {
    "busbw_by_payload": "payload,busbw,algbw\n16MiB,219.89GBps,125.65GBps\n",
    "1node_vs_4node_B200": (
        "payload,1 node,4"
        " nodes,slowdown\n32KiB,1.20GBps,0.01GBps,120.0x\n1GiB,723.34GBps,361.99GBps,2.0x\n"
    ),
    "busbw_by_node": (
        'node,busbw @16GiB,uni-dir. spec,% of spec\n"A100, [NVLink'
        ' 3](#nvlink)",234.89GBps,300,78%\n'
    ),
    "sharp_1": (
        'GPUs,algo NCCL picks,busbw,"busbw, NVLS off",gain from SHARP\n'
        "4,Ring,363.3GBps,363.3GBps,1.00x\n5,NVLS,414.2GBps,364.4GBps,1.14x\n"
    ),
    "sharp_2": (
        'GPUs,algo NCCL picks,busbw,"busbw, NVLS off",gain from'
        " SHARP\n8,NVLS,838.0GBps,682.2GBps,1.23x\n"
    ),
}


@pytest.fixture
def raw(tmp_path):
    """Kernels at two sizes, one of them timed twice; a collective at three sizes; the all-reduces
    of the book.
    """
    (tmp_path / "profiling").mkdir()
    (tmp_path / "network_measured").mkdir()
    header = ",".join(
        [
            *(f"time_stats.{name}.median" for name in TIMES),
            *SHAPE,
            "num_tokens",
            "num_tensor_parallel_workers",
        ]
    )
    lines = [
        ",".join(map(str, [*([ms] * len(TIMES)), *SHAPE.values(), tokens, tensor]))
        for ms, tokens, tensor in ((1.0, 4096, 8), (3.0, 4096, 8), (0.5, 2048, 1), (0.7, 2047, 1))
    ]
    for name in KERNEL_FILES:
        (tmp_path / "profiling" / f"vidur_mlp_{name}.csv").write_text(
            "\n".join([header, *lines]) + "\n"
        )
    for chip in ("a100", "h100"):
        for name in ("all_reduce", "send_recv"):
            columns = ",".join(
                [
                    *(
                        f"time_stats.{name}.{kind}"
                        for kind in ("min", "max", "mean", "median", "std")
                    ),
                    "rank,num_workers,size,collective,devices_per_node,max_devices_per_node",
                ]
            )
            rows = [
                f"0,9,1,{ms},0,0,8,{size},{name},8,8"
                for ms, size in ((0.02, 2048), (0.03, 3000), (0.3, 67108864), (0.5, 67108864))
            ]
            (tmp_path / "profiling" / f"vidur_{chip}_dgx_{name}.csv").write_text(
                "\n".join([columns, *rows]) + "\n"
            )
    for name, text in STAS.items():
        (tmp_path / "network_measured" / f"stas_allreduce_{name}.csv").write_text(text)
    return tmp_path


def test_products_have_the_shape_of_one_rank_and_the_median_time(raw):
    rows = {
        (row["operation"], row["tokens"]): row
        for row in profiling.kernel_rows(raw)
        if row["accelerator"] == "H100 SXM"
    }
    up = rows["feed-forward up", 4096]
    assert (up["columns"], up["inner"], up["tensor_parallel"]) == (2 * 28672 // 8, 8192, 8)
    assert up["measured_s"] == 0.002 and up["model"] == "Llama-2-70B"
    assert (rows["query key value", 4096]["columns"], rows["attention output", 4096]["inner"]) == (
        (8 + 2) * 128,
        1024,
    )


def test_streaming_operations_have_the_bytes_that_they_move(raw):
    rows = {
        row["operation"]: row
        for row in profiling.kernel_rows(raw)
        if row["tokens"] == 2048 and row["moved_bytes"]
    }
    assert set(rows) == {"norm", "activation", "add", "rotation", "embedding"}
    assert rows["add"]["moved_bytes"] == 3 * 8192 * 2 * 2048
    assert rows["activation"]["moved_bytes"] == 3 * 28672 * 2 * 2048


def test_sizes_are_thinned(raw):
    assert {row["tokens"] for row in profiling.kernel_rows(raw)} == {2048, 4096}
    rows = [
        row
        for row in profiling.collective_rows(raw)
        if row["accelerator"] == "H100 SXM" and row["collective"] == "all-reduce"
    ]
    assert {row["payload_bytes"]: row["measured_s"] for row in rows} == {
        2048: 2e-5,
        3000: 3e-5,
        67108864: 4e-4,
    }


def test_bus_bandwidths_are_in_decimal_bytes_and_rough_ones_are_left_out(raw):
    found, dropped = sift(profiling.stas_rows(raw))
    rows = {
        (row["accelerator"], row["chips"], row["payload_bytes"], row["algorithm"]): row[
            "measured_bus_bytes_per_s"
        ]
        for row in found
    }
    assert rows["H200 SXM", 8, 16 * 2**20, "NVLS"] == 219.89e9
    assert rows["B200", 32, 2**30, "as chosen"] == 361.99e9
    assert rows["A100 SXM 80GB", 8, 2**34, "ring"] == 234.89e9
    assert rows["H200 SXM", 5, 2**32, "NVLS"] == 414.2e9
    assert rows["H200 SXM", 5, 2**32, "ring"] == 364.4e9
    assert len(dropped) == 1
    assert isinstance(dropped[0], Dropped)
    assert "one digit" in dropped[0].reason


def test_a_payload_that_is_none_is_named(raw):
    (raw / "network_measured" / "stas_allreduce_busbw_by_payload.csv").write_text(
        "payload,busbw,algbw\nbig,1GBps,1GBps\n"
    )
    with pytest.raises(RefreshError, match="'big' is no payload; expected such as 16MiB"):
        list(profiling.stas_rows(raw))


def test_an_unknown_layout_of_a_raw_file_is_refused(raw):
    (raw / "profiling" / "vidur_h100_dgx_send_recv.csv").write_text("size\n1\n")
    with pytest.raises(RefreshError, match="missing column"):
        list(profiling.collective_rows(raw))
