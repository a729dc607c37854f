/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row per kind of card: names, units, and which rules apply. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

#define ILUVATAR(chip)                                                                             \
    {.vendor = chip, .count = "iluvatar.ai/" chip "-vgpu", .mem = "iluvatar.ai/" chip ".vMem",     \
     .cores = "iluvatar.ai/" chip ".vCore", .use_uuid = "hami.io/use-" chip "-uuid",               \
     .nouse_uuid = "hami.io/no-use-" chip "-uuid", .mem_factor = 256,                              \
     .admit = hami_admit_iluvatar, .request = hami_request_plain, .fit = hami_fit_shared,          \
     .take = hami_take_plain}

#define ASCEND(chip)                                                                               \
    {.vendor = chip, .count = "huawei.com/" chip, .mem = "huawei.com/" chip "-memory",             \
     .cores = "huawei.com/" chip "-core", .use_uuid = "hami.io/use-" chip "-uuid",                 \
     .nouse_uuid = "hami.io/no-use-" chip "-uuid", .mem_factor = 1, .admit = hami_admit_ascend,    \
     .request = hami_request_plain, .fit = hami_fit_shared, .take = hami_take_plain,               \
     .score = hami_score_ascend}

const struct hami_backend hami_backends[HAMI_VENDORS] = {
    [HAMI_NVIDIA] = {.vendor = "NVIDIA", .count = "nvidia.com/gpu", .mem = "nvidia.com/gpumem",
                     .cores = "nvidia.com/gpucores", .percent = "nvidia.com/gpumem-percentage",
                     .use_type = "nvidia.com/use-gputype", .nouse_type = "nvidia.com/nouse-gputype",
                     .use_uuid = "nvidia.com/use-gpuuuid", .nouse_uuid = "nvidia.com/nouse-gpuuuid",
                     .admit = hami_admit_nvidia, .request = hami_request_nvidia,
                     .fit = hami_fit_shared, .take = hami_take_nvidia},
    [HAMI_MLU] = {.vendor = "MLU", .count = "cambricon.com/vmlu",
                  .mem = "cambricon.com/mlu.smlu.vmemory", .cores = "cambricon.com/mlu.smlu.vcore",
                  .use_uuid = "cambricon.com/use-gpuuuid",
                  .nouse_uuid = "cambricon.com/nouse-gpuuuid", .mem_factor = 256,
                  .default_cores = 100, .request = hami_request_plain, .fit = hami_fit_shared,
                  .take = hami_take_plain},
    [HAMI_DCU] = {.vendor = "DCU", .count = "hygon.com/dcunum", .mem = "hygon.com/dcumem",
                  .cores = "hygon.com/dcucores", .use_type = "hygon.com/use-dcutype",
                  .nouse_type = "hygon.com/nouse-dcutype", .use_uuid = "hygon.com/use-gpuuuid",
                  .nouse_uuid = "hygon.com/nouse-gpuuuid", .mem_factor = 1, .default_cores = 100,
                  .request = hami_request_plain, .fit = hami_fit_shared, .take = hami_take_plain},
    [HAMI_MR_V100] = ILUVATAR("MR-V100"),
    [HAMI_MR_V50] = ILUVATAR("MR-V50"),
    [HAMI_BI_V150] = ILUVATAR("BI-V150"),
    [HAMI_BI_V100] = ILUVATAR("BI-V100"),
    [HAMI_MTHREADS] = {.vendor = "Mthreads", .count = "mthreads.com/vgpu",
                       .mem = "mthreads.com/sgpu-memory", .cores = "mthreads.com/sgpu-core",
                       .use_uuid = "mthreads.ai/use-gpuuuid",
                       .nouse_uuid = "mthreads.ai/nouse-gpuuuid", .mem_factor = 512,
                       .admit = hami_admit_mthreads, .request = hami_request_mthreads,
                       .fit = hami_fit_shared, .take = hami_take_plain},
    [HAMI_METAX_GPU] = {.vendor = "Metax-GPU", .count = "metax-tech.com/gpu", .default_cores = 100,
                        .request = hami_request_whole, .fit = hami_fit_shared,
                        .take = hami_take_plain, .score = hami_score_metax_gpu},
    [HAMI_METAX_SGPU] = {.vendor = "Metax-SGPU", .count = "metax-tech.com/sgpu",
                         .mem = "metax-tech.com/vmemory", .cores = "metax-tech.com/vcore",
                         .use_uuid = "metax-tech.com/use-gpuuuid",
                         .nouse_uuid = "metax-tech.com/nouse-gpuuuid", .mem_factor = 1024,
                         .admit = hami_admit_metax_sgpu, .request = hami_request_metax_sgpu,
                         .fit = hami_fit_metax_sgpu, .take = hami_take_metax_sgpu,
                         .score = hami_score_metax_sgpu},
    [HAMI_KUNLUN] = {.vendor = "kunlun", .count = "kunlunxin.com/xpu", .request = hami_request_whole,
                     .fit = hami_fit_kunlun, .take = hami_take_kunlun, .score = hami_score_kunlun},
    [HAMI_XPU] = {.vendor = "XPU", .count = "kunlunxin.com/vxpu", .mem = "kunlunxin.com/vxpu-memory",
                  .admit = hami_admit_xpu, .request = hami_request_xpu, .fit = hami_fit_kunlun,
                  .take = hami_take_plain},
    [HAMI_ENFLAME] = {.vendor = "Enflame", .count = "enflame.com/drs-gcu",
                      .mem = "enflame.com/gcu-memory", .cores = "enflame.com/gcu-core",
                      .use_uuid = "enflame.com/use-gpuuuid",
                      .nouse_uuid = "enflame.com/nouse-gpuuuid", .admit = hami_admit_enflame,
                      .request = hami_request_enflame, .fit = hami_fit_enflame,
                      .take = hami_take_enflame},
    [HAMI_GCU] = {.vendor = "GCU", .count = "enflame.com/gcu", .default_cores = 100,
                  .request = hami_request_whole, .fit = hami_fit_gcu, .take = hami_take_plain},
    [HAMI_NEURON] = {.vendor = "AWSNeuron", .count = "aws.amazon.com/neuron",
                     .cores = "aws.amazon.com/neuroncore",
                     .use_uuid = "aws.amazon.com/use-neuron-uuid",
                     .nouse_uuid = "aws.amazon.com/nouse-neuron-uuid", .admit = hami_admit_neuron,
                     .request = hami_request_neuron, .fit = hami_fit_neuron,
                     .take = hami_take_neuron},
    [HAMI_AMD] = {.vendor = "AMD", .count = "amd.com/gpu", .mem = "amd.com/gpumem",
                  .cores = "amd.com/gpucores", .use_type = "amd.com/use-gputype",
                  .nouse_type = "amd.com/nouse-gputype", .use_uuid = "amd.com/use-gpu-uuid",
                  .nouse_uuid = "amd.com/nouse-gpu-uuid", .admit = hami_admit_amd,
                  .request = hami_request_amd, .fit = hami_fit_amd, .take = hami_take_plain},
    [HAMI_VASTAI] = {.vendor = "Vastai", .count = "vastaitech.com/va",
                     .use_uuid = "vastaitech.com/use-gpuuuid",
                     .nouse_uuid = "vastaitech.com/nouse-gpuuuid", .request = hami_request_whole,
                     .fit = hami_fit_slots, .take = hami_take_plain, .score = hami_score_vastai},
    [HAMI_BIREN] = {.vendor = "Biren", .count = "birentech.com/gpu",
                    .use_uuid = "birentech.com/use-gpuuuid",
                    .nouse_uuid = "birentech.com/nouse-gpuuuid", .request = hami_request_whole,
                    .fit = hami_fit_slots, .take = hami_take_plain},
    [HAMI_910A] = ASCEND("Ascend910A"),
    [HAMI_910B2] = ASCEND("Ascend910B2"),
    [HAMI_910B3] = ASCEND("Ascend910B3"),
    [HAMI_910B4_1] = ASCEND("Ascend910B4-1"),
    [HAMI_910B4] = ASCEND("Ascend910B4"),
    [HAMI_310P] = ASCEND("Ascend310P"),
    [HAMI_910C] = ASCEND("Ascend910C"),
};

const char *hami_vendor_name(int vendor)
{
    return hami_backends[vendor].vendor;
}

int hami_vendor_find(const char *name)
{
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (strcmp(hami_backends[v].vendor, name) == 0)
            return v;
    return -1;
}
