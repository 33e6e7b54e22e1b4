import { PluginKind, declareValuePlugin } from '@stryker-mutator/api/plugin';

const MESSAGE = 'The words of messages are for people: tests hold those that matter.';
const ERROR = /(?:Error|Failure|Problem|Away|Slow|Data)$/;
const LOG = new Set(['debug', 'error', 'log', 'warn']);

/** Leaves the words of errors and of log lines alone: all string literals among the arguments that make one. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'messages', {
    shouldIgnore(path) {
      if (!path.isStringLiteral() && !path.isTemplateLiteral()) return undefined;
      const call = path.findParent((parent) => parent.isNewExpression() || parent.isCallExpression());
      return call && isMessage(call) ? MESSAGE : undefined;
    },
  }),
];

function isMessage({ node }) {
  const { callee } = node;
  if (node.type === 'NewExpression') return ERROR.test(callee.name ?? '');
  if (callee.type === 'Super') return true;
  return callee.type === 'MemberExpression' && LOG.has(callee.property.name);
}
