import { join } from 'node:path';
import { isMessage } from './messages.mjs';

/**
 * Mutators for what developers forget: a statement (what is released, cleared, notified or started again), an `await`, and an `unref`.
 * Stryker has no place for mutators of a project, so they join its own.
 */
const leftOut = [
  {
    name: 'StatementLeftOut',
    *mutate(path) {
      if (path.isExpressionStatement() && !isSaid(path.get('expression'))) yield { type: 'EmptyStatement' };
    },
  },
  {
    name: 'AwaitLeftOut',
    *mutate(path) {
      if (path.isAwaitExpression()) yield structuredClone(path.node.argument);
    },
  },
  {
    name: 'UnrefLeftOut',
    *mutate(path) {
      if (!path.isCallExpression()) return;
      const { callee } = path.node;
      if (callee.type !== 'MemberExpression' || callee.property.name !== 'unref') return;
      yield structuredClone(callee.object);
    },
  },
];

/** Whether it tells people something, or passes parameters to the parent class. */
function isSaid(expression) {
  return expression.isCallExpression() && isMessage(expression);
}

const MUTATORS = join(
  import.meta.dirname,
  '../../node_modules/@stryker-mutator/instrumenter/dist/src/mutators/index.js',
);
const { allMutators } = await import(MUTATORS);
allMutators.push(...leftOut);

export const strykerPlugins = [];
