"""torch.fx: programs as graphs, which other programs read and change.

A tracer runs a program with Proxies, which note what is done with them over __torch_function__ and Module's calls; a graph
becomes a Module again by generated code.
https://pytorch.org/docs/stable/fx.html

graph, owning_module   the Graph, and the module whose attributes it names
module, root           the Module, or function, to trace, run or change
node, n                a Node
op                     'placeholder', 'get_attr', 'call_function', 'call_method', 'call_module' or 'output'
target                 what a node does: a function, a method's name or a dotted path
kwargs                 of the call, with Nodes (or, in an Interpreter, values) among them
args_list              a list of the inputs, which is emptied
name                   the node's name; None: one made of its target
type_expr, return_type   the type that the generated code notes; None: none
default_value          of a parameter; without it there is none
qualified_name, module_name   a dotted path
method_name            of a method of the first argument
the_function           a function
result                 what the program returns
attr, attr_val         an attribute's name and value
parameter_proxy_cache  {name: Proxy} of parameters that were read before
m                      a Module
module_qualified_name  its dotted path
to_erase               the node, which nothing may use
replace_with           the node to use instead
propagate_meta         True: replace_with takes the old node's meta
sort                   True: in the graph's order
return_output_node     True: the old graph's output node, too
is_impure_node         which nodes stay even if nothing uses them; None: Node.is_impure
impure_random          accepted without effect
tracer, tracer_cls, tracer_extras   the Tracer; its class, and what that is given when a pickled module is traced again
autowrap_modules, autowrap_functions   modules and functions whose calls become nodes
param_shapes_constant  True: shapes of parameters are numbers, not nodes
concrete_args          {parameter: value}: arguments that the graph fixes
is_module              whether root is a Module
codegen                a CodeGen
verbose, include_stride, include_device, additional_meta   what the notes in the code tell besides types
colored                True: with the colors of a terminal
expanded_def           True: each parameter on a line of its own
record_func, fast_sympy_print   accepted without effect
print_output           True: print it, too
folder                 where the files go
arg_types, kwarg_types, normalize_to_only_use_kwargs   types that choose an overload; True: all arguments by name
maybe_return_typename  a list that takes the return type
include_tensor_metadata   accepted without effect
enable_io_processing   False: inputs and result as the graph has them, whatever its codegen says
fn_or_name             a function, or the name of one of the module
"""
from retrograd._missing import late_names
from retrograd.fx import immutable_collections as immutable_collections
from retrograd.fx._patching import wrap as wrap
from retrograd.fx._symbolic_trace import PH as PH
from retrograd.fx._symbolic_trace import ProxyableClassMeta as ProxyableClassMeta
from retrograd.fx._symbolic_trace import Tracer as Tracer
from retrograd.fx._symbolic_trace import symbolic_trace as symbolic_trace
from retrograd.fx.graph import CodeGen as CodeGen
from retrograd.fx.graph import Graph as Graph
from retrograd.fx.graph_module import GraphModule as GraphModule
from retrograd.fx.interpreter import Interpreter as Interpreter
from retrograd.fx.interpreter import Transformer as Transformer
from retrograd.fx.node import Node as Node
from retrograd.fx.node import has_side_effect as has_side_effect
from retrograd.fx.node import map_arg as map_arg
from retrograd.fx.proxy import Proxy as Proxy
from retrograd.fx.subgraph_rewriter import replace_pattern as replace_pattern

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect", "map_arg",
           "replace_pattern", "symbolic_trace", "wrap"]
late_names(__name__, lazy=("annotate", "experimental", "graph", "graph_module", "interpreter", "node", "operator_schemas",
                           "passes", "proxy", "subgraph_rewriter", "traceback"))
