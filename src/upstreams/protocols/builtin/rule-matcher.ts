import { clausesOf } from './clause.js';
import { Pattern } from './pattern.js';
import { reflect } from './pronouns.js';
import type { Rule } from './rules.js';

/** A matching rule, and the texts that its stars matched. */
export interface Match {
  readonly rule: Rule;
  readonly captures: readonly string[];
}

interface CompiledRule {
  readonly rule: Rule;
  readonly patterns: readonly Pattern[];
}

/** Finds the best rule for a message. */
export class RuleMatcher {
  private readonly rules: readonly CompiledRule[];

  constructor(rules: readonly Rule[]) {
    this.rules = rules
      .map((rule) => ({ rule, patterns: rule.patterns.map((source) => new Pattern(source)) }))
      .sort((one, other) => other.rule.rank - one.rule.rank);
  }

  best(message: string): Match | undefined {
    const clauses = clausesOf(message);
    for (const { rule, patterns } of this.rules) {
      for (const clause of clauses) {
        for (const pattern of patterns) {
          const captures = pattern.match(clause);
          if (captures !== undefined) return { rule, captures };
        }
      }
    }
    return undefined;
  }
}

/** Reflects the captures of a match and puts them into one of its replies. */
export function reassemble(reply: string, { captures }: Match): string {
  return reply.replace(/\$(\d)/g, (_, index: string) => reflect(captures[Number(index) - 1] ?? 'that'));
}
