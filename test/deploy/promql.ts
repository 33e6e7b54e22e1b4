import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** One metric that an expression asks for, with what it asks of its labels. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly isRegex: boolean; readonly value: string }[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels after `by`, `without`, `on` and `ignoring`. */
  readonly grouping: readonly string[];
}

const MATCHERS = new Set(['UnquotedLabelMatcher', 'QuotedLabelMatcher']);

/** Reads PromQL. Throws where it is not. */
export function readExpression(source: string): Expression {
  const text = ({ from, to }: SyntaxNode): string => source.slice(from, to);
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type.isError) throw new Error(`Not PromQL, at ${node.from}: ${source}`);
    if (node.name === 'VectorSelector') selectors.push(selectorOf(node, text));
    if (node.name === 'GroupingLabels') grouping.push(...childrenOf(node).map(text));
    childrenOf(node).forEach(visit);
  };
  visit(parser.parse(source).topNode);
  if (selectors.length === 0) throw new Error(`Asks for no metric: ${source}`);
  return { selectors, grouping };
}

function selectorOf(node: SyntaxNode, text: (node: SyntaxNode) => string): Selector {
  const identifier = node.getChild('Identifier');
  const matchers = childrenOf(node.getChild('LabelMatchers'))
    .filter(({ name }) => MATCHERS.has(name))
    .map((matcher) => {
      const [label, operator, value] = childrenOf(matcher).map(text);
      return { label: label ?? '', isRegex: operator?.includes('~') ?? false, value: value?.slice(1, -1) ?? '' };
    });
  return { metric: identifier === null ? '' : text(identifier), matchers };
}

function childrenOf(node: SyntaxNode | null): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node?.firstChild ?? null; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
