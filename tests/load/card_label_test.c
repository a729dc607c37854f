/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Card types by the names that clouds and NVIDIA's GPU feature discovery write into node labels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/objects/objects.h"

static void is_card(const char *text, int64_t mib, const char *card)
{
    const int32_t ix = ob_card_named(text, mib);
    if (ix < 0)
        fail_msg("'%s' is not known; expected %s", text, card);
    assert_string_equal(catalogue_builtin()->cards[ix].name, card);
}

static void names_of_gpu_feature_discovery_are_known(void **state)
{
    (void)state; /* nvidia.com/gpu.product: the product name of the driver, blanks as dashes */
    is_card("NVIDIA-A100-SXM4-80GB", 0, "A100-80");
    is_card("NVIDIA-A100-SXM4-40GB", 0, "A100-40");
    is_card("NVIDIA-A100-PCIE-40GB", 0, "A100-40");
    is_card("NVIDIA-A100-SXM4-40GB-SHARED", 0, "A100-40");
    is_card("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 4864, "A100-40");
    is_card("NVIDIA-H100-80GB-HBM3", 81559, "H100");
    is_card("NVIDIA-H100-PCIe", 0, "H100");
    is_card("NVIDIA-H200", 143771, "H200");
    is_card("NVIDIA-B200", 0, "B200");
    is_card("NVIDIA-GB200", 0, "GB200");
    is_card("NVIDIA-L4", 23034, "L4");
    is_card("NVIDIA-L40S", 46068, "L40S");
    is_card("NVIDIA-A10", 0, "A10");
    is_card("NVIDIA-A10G", 0, "A10G");
    is_card("NVIDIA-A30", 0, "A30");
    is_card("Tesla-T4", 15360, "T4");
    is_card("Tesla-V100-SXM2-16GB", 0, "V100-16");
    is_card("Tesla-V100-SXM2-32GB", 0, "V100-32");
    is_card("Tesla-P100-PCIE-16GB", 0, "P100");
    is_card("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", 0, "RTX-PRO-6000");
}

static void names_of_clouds_are_known(void **state)
{
    (void)state; /* cloud.google.com/gke-accelerator; there nvidia-tesla-a100 is the one of 40 GB */
    is_card("nvidia-h100-80gb", 0, "H100");
    is_card("nvidia-h100-mega-80gb", 0, "H100");
    is_card("nvidia-h200-141gb", 0, "H200");
    is_card("nvidia-a100-80gb", 0, "A100-80");
    is_card("nvidia-tesla-a100", 0, "A100-40");
    is_card("nvidia-tesla-t4", 0, "T4");
    is_card("nvidia-tesla-v100", 0, "V100-16");
    is_card("nvidia-l4", 0, "L4");
    is_card("h100", 0, "H100"); /* karpenter.k8s.aws/instance-gpu-name */
    is_card("l40s", 0, "L40S");
}

static void memory_tells_sizes_apart(void **state)
{
    (void)state; /* nvidia.com/gpu.memory, MiB */
    is_card("a100", 40960, "A100-40");
    is_card("a100", 81920, "A100-80");
    is_card("A100", 0, "A100-80"); /* the catalogue's own name for it */
    assert_int_equal(ob_card_named("nvidia-a100", 0), -1); /* 40 or 80: not said */
}

static void other_cards_are_not_taken_for_similar_ones(void **state)
{
    (void)state;
    assert_int_equal(ob_card_named("NVIDIA-L40", 0), -1);
    assert_int_equal(ob_card_named("NVIDIA-H20", 0), -1);
    assert_int_equal(ob_card_named("NVIDIA-GH200-480GB", 0), -1);
    assert_int_equal(ob_card_named("NVIDIA-A40", 0), -1);
    assert_int_equal(ob_card_named("Tesla-P100-PCIE-12GB", 0), -1); /* the catalogue has that of 16 GB */
    assert_int_equal(ob_card_named("", 0), -1);
    assert_int_equal(ob_card_named("----", 0), -1);
    assert_int_equal(ob_card_named("a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z-H100", 0), -1); /* cut after 12 words */
}

static void a_label_that_names_a_card_goes_before_one_that_does_not(void **state)
{
    (void)state;
    const struct policy_label labels[] = {{"nvidia.com/gpu.product", "something"}, {"cloud.google.com/gke-accelerator", "nvidia-l4"}};
    const struct policy_label *label;
    assert_int_equal(ob_card_type(labels, 2, &label), ob_card_named("L4", 0));
    assert_ptr_equal(label, &labels[1]);
    assert_int_equal(ob_card_type(labels, 1, &label), -1);
    assert_ptr_equal(label, &labels[0]);
    assert_int_equal(ob_card_type(labels, 0, &label), -1);
    assert_null(label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_gpu_feature_discovery_are_known),
        cmocka_unit_test(names_of_clouds_are_known),
        cmocka_unit_test(memory_tells_sizes_apart),
        cmocka_unit_test(other_cards_are_not_taken_for_similar_ones),
        cmocka_unit_test(a_label_that_names_a_card_goes_before_one_that_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
