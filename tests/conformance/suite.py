"""The tests of PyTorch's own suite for autograd and hooks, by theme, and which of our programs stand for them.

Names are those of PyTorch's test_autograd.py (TestAutograd, TestAllowMutationOnSaved) without `test_`. A program says in a
comment which test a block stands for: `# as: test_hooks`.
"""

from __future__ import annotations

import re

from conformance.harness import PROGRAMS

TESTS = {
    "hooks, retain_grad, hooks of nodes": """
        hooks hooks_cpp hook_none hook_with_no_name hook_edge_case_when_called_with_grad hook_closure_cycle
        prehook_ordering retains_grad_can_always_observe_tensor_prehook
        accumulate_grad_posthooks_can_observe_tensor_prehook accumulate_grad_posthooks_should_not_execute
        post_accumulate_grad_hook_on_non_leaf post_accumulate_grad_hook_multiple_hooks
        post_accumulate_grad_hook_multiple_tensors post_accumulate_grad_hook_returns_not_None
        post_accumulate_grad_hook_e2e post_accumulate_grad_hook_gets_cleaned_up post_accumulate_grad_hook_ordering
        grad_nonleaf_register_hook grad_fn_prehooks grad_fn_prehooks_multiple_outputs grad_fn_prehooks_remove_hooks
        node_post_hook_registered_during_unpack_hook retain_grad retain_grad_inplace
        retains_grad_inplace_multiple_outputs retain_grad_inplace_over_view retain_grad_cycle tensor_hooks_inplace
        tensor_hooks_inplace_multiple_outputs tensor_hooks_inplace_over_view multi_grad_all_hooks multi_grad_any_hooks
        multi_grad_hooks_invalid_mode return_leaf backward_hook_relative_ordering
        create_graph_and_full_backward_hook_cycle full_backward_hook_double_backward reentrant_with_leaf_variable_hook
        reentrant_with_non_leaf_variable_hook will_engine_execute_node
    """,
    "arguments of backward and grad, accumulation, values": """
        backward backward_badcalls backward_no_grad multi_backward multi_backward_no_grad dependent_backward
        duplicate_backward_root backward_with_inputs backward_with_scalar_input backward_with_nonleaf_inputs
        backward_to_node backward_twice_with_saved_values backward_twice_retained_graph_with_saved_values
        backward_twice_without_saved_values backward_twice_retained_graph_without_saved_values
        backward_create_graph_warns backward_copy accumulate_grad accumulate_grad_tensor_reference
        accumulate_grad_with_zero_numel_grad input_buffer_accum no_grad_copy unused_output sharded_grad hessian_vector
        grad grad_nonleaf grad_nonleaf_many_outputs grad_materialize_grads unused_grad_requires_grad_with_materialize
        grad_badcalls grad_empty_inputs grad_unreachable grad_unreachable_discovery grad_batched_grad grad_to_node
        grad_to_node_set grad_to_node_inplace grad_to_node_multi grad_to_node_materialize gradient_edge_output
        gradient_edge_graph_ownership grad_fn_badcalls grad_fn_input_metadata grad_dtype unrelated_inputs
        not_implemented_grad isolated_node integer_outputs power_function pow_zero_tensor_gradient indexing
        indexing_duplicates index_backward_does_not_save_tensor select_sum diagonal_expanded_v select_expanded_v
        slice_expanded_v var_mean_differentiable type_conversions numpy_requires_grad shape dir pickle
        grad_thread_safety
    """,
    "saved tensors and their hooks": """
        no_unnecessary_save no_unnecessary_unwrapping grad_fn_attr_bindings get_data_and_hooks_from_raw_saved_variable
        saved_tensor_constructor_forbidden_without_flag custom_function_saved_tensors clear_saved_tensors_on_access
        clear_saved_tensors_on_access_double_access_error saved_variable_version_counter
        saved_variable_packing_unpacking_saved_original_with_hooks
        saved_variable_packing_unpacking_did_not_save_original_with_hooks
        saved_variable_packing_unpacking_saved_original_with_default_hooks
        saved_variable_packing_unpacking_did_not_save_original_with_default_hooks
        saved_variable_saved_original_inplace_detach setting_default_saved_variable_hooks_twice_should_not_fail
        setting_default_saved_variable_hooks_twice_should_use_inner disabling_saved_tensor_hooks
        disabling_saved_tensor_hooks_nested saved_tensor_hooks_custom_error_propagation
        saved_tensor_hooks_custom_function_intermediates saved_tensor_hooks_extra_exit_during_bw_no_crash
        saved_tensor_hooks_extra_enter_during_bw_no_leak saved_tensors_hook_version_counter_not_shared
        unpack_hooks_exec_count pack_hook_with_inplace_modification_should_fail saving_variable_to_disk
        default_saved_tensors_hooks_double_backward wrapped_number_saved_tensors_hooks graph_save_on_cpu
        save_on_cpu_and_checkpoint access_saved_tensor_twice_without_recomputation_works
    """,
    "custom Functions": """
        function once_differentiable function_returns_input function_returns_undefined_tensor materialize_grads
        dont_materialize_grads set_materialize_non_diff_grads legacy_function_deprecation_exception
        custom_function_exception custom_function_non_tensor_inputs_outputs custom_function_no_tensors
        custom_function_setup_context_simple custom_function_setup_context_multi_output
        custom_function_setup_context_multi_input setup_context_when_forward_has_default_args
        custom_function_vmap_defaults invalid_gradients too_many_grads save_none_for_backward save_output_nr
        saved_variables_deprecated mark_non_differentiable mark_non_differentiable_mixed mark_non_differentiable_none
        return_duplicate return_duplicate_inplace return_leaf_inplace dep_nograd no_grad_python_function no_grad_input
        naughty_autograd_function_attribute_access naughty_anomaly_access naughty_autograd_function_stashing_ctx
        custom_autograd_repeated_grad_grad custom_autograd_no_early_free gc_in_destructor inplace_not_requires_grad
        autograd_python_custom_function_inplace custom_function_mark_dirty_not_differentiable
        custom_function_mark_output_view_of_intermediate custom_function_inplace_on_non_default_view
        custom_function_inplace_on_view_of_leaf custom_function_saving_mutated_view_no_leak
        custom_function_return_view_in_nograd custom_function_error custom_function_local_inplace
        custom_function_cycle grad_mode_restored_reentrant autograd_simple_views_python autograd_multiple_views_python
    """,
    "grad modes": """
        no_grad enable_grad_decorator_no_paren grad_mode_class_decoration set_grad_enabled set_grad_enabled_wraps
        set_grad_generator_functions set_grad_generator_functions_recursive set_grad_coroutines
        set_grad_coroutines_benign_exceptions set_grad_coroutines_critical_exceptions set_grad_coroutines_exit
        no_grad_assignment no_grad_modifies_version
    """,
    "leaves, views, in-place edits, versions, printing": """
        tensor_grad_warnings requires_grad requires_grad_ requires_grad_inplace no_requires_grad_inplace
        attribute_deletion inplace leaf_assignment setitem setitem_mask detach detach_base
        detach_then_inplace_raises_in_autograd increment_version version_counter set_data_preserve_pyobj
        set_data_self_requires_grad inplace_on_view_saved_output inplace_on_view_leaf_errors inplace_on_view_backward
        inplace_on_view_weak_grad_fn out_variant_raises_when_inputs_require_grad copy_slices_graph_task_updates
        autograd_views_codegen autograd_inplace_views_creation_meta autograd_inplace_view_of_view
        autograd_print_tensor volatile_deprecated
    """,
    "the graph, passes inside passes, anomaly mode": """
        next_functions autograd_node_isinstance current_graph_task_id variable_traverse free_deep_graph
        free_deep_graph_complicated free_deep_graph_pyfunction simple_reentrant reentrant_child_error deep_reentrant
        reentrant_priority callback_adds_callback reentrant_with_callbacks_depth_0 reentrant_with_callbacks_depth_1
        reentrant_with_callbacks_both_depths anomaly_detect_nan nested_anomaly_detect_nan anomaly_grad_warnings
        anomaly_assign_parent_cleanup nested_anomaly_printstack_cleanup anomaly_mode_no_check_nan
        pynode_destruction_deadlock
    """,
    "editing what was saved": """
        basic views save_base_and_modify_view save_view_modify_base double_backward saved_but_not_anymore
        saved_same_tensor_many_times saved_same_tensor_different_versions with_out_variant backward_out_of_context
        disallow_nesting
    """,
}

# what they need and we do not have
LEFT_OUT = {
    "calculate_shape_util": "nested tensors",
    "saved_tensor_constructor_with_hooks": "a private constructor",
    "custom_function_preserve_torch_function_when_return_as_is": "subclasses with __torch_function__",
    "unsafe_set_version_counter": "a private function",
    "set_data_tensorimpl_type": "sparse tensors",
    "autograd_inplace_views_cross_dtype": "complex dtypes",
    "first_grad_fn_access_in_no_grad_mode": "complex dtypes",
    "view_replay_enabled": "a private switch",
    "view_func_replay": "a private function",
    "view_func_replay_with_modified_state": "a private function",
    "current_graph_task_execution_order": "a private function",
    "current_graph_task_execution_order_honors_next_edges_order": "newer than PyTorch 2.13",
    "current_node": "dispatch modes",
    "node_ordering_when_none_returned": "CUDA",
    "multiple_insert_removal_caching": "a private cache",
    "with_math_views": "complex dtypes",
}


def wanted() -> set[str]:
    return {name for names in TESTS.values() for name in names.split()}


def blocks() -> dict[str, list[str]]:
    """Test -> the programs that say they stand for it."""
    found: dict[str, list[str]] = {}
    for path in sorted(PROGRAMS.glob("[!_]*.py")):
        for name in re.findall(r"# as: test_(\w+)$", path.read_text(encoding="utf-8"), re.M):
            found.setdefault(name, []).append(path.stem)
    return found
