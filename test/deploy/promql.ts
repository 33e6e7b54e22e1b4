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

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
/** A name that is neither a function nor an operator, with its matchers. */
const SELECTOR = /(?<![\w.[])([a-z_:][\w:]*)\s*(?:\{([^}]*)\})?(?![\w:]*\s*\()/gi;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'by', 'without', 'on', 'ignoring']);

/** Finds the metrics and labels of a PromQL expression. `promtool` checks the syntax. */
export function readExpression(source: string): Expression {
  const grouping = [...source.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.match(/\w+/g) ?? []);
  const selectors = [...source.replaceAll(GROUPING, ' ').matchAll(SELECTOR)]
    .filter(([, metric = '']) => !OPERATORS.has(metric))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
        label,
        isRegex: operator.includes('~'),
        value,
      })),
    }));
  if (selectors.length === 0) throw new Error(`Asks for no metric: ${source}`);
  return { selectors, grouping };
}
