"""torch.fx: programs as graphs, which other programs read and change.

A tracer runs a program with Proxies, which note what is done with them over __torch_function__ and Module's calls; a graph
becomes a Module again by generated code.
https://pytorch.org/docs/stable/fx.html
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
