import { expandContractions, reflect } from './pronouns.js';
import type { Rule } from './rules.js';

/** A rule that fits, and what its stars took. */
export interface Match {
  readonly rule: Rule;
  readonly captures: readonly string[];
}

interface CompiledRule {
  readonly rule: Rule;
  readonly patterns: readonly RegExp[];
}

/** More than anyone says in one clause; bounds the work on a message of megabytes. */
const MOST_CHARACTERS_READ = 2_000;

/** Finds the rule that fits a message best. */
export class RuleMatcher {
  private readonly rules: readonly CompiledRule[];

  constructor(rules: readonly Rule[]) {
    this.rules = rules
      .map((rule) => ({ rule, patterns: rule.patterns.map(compile) }))
      .sort((one, other) => other.rule.rank - one.rule.rank);
  }

  best(message: string): Match | undefined {
    const clauses = clausesOf(message);
    for (const { rule, patterns } of this.rules) {
      for (const clause of clauses) {
        for (const pattern of patterns) {
          const found = pattern.exec(clause);
          if (found !== null) return { rule, captures: found.slice(1) };
        }
      }
    }
    return undefined;
  }
}

/** Puts a match's captures, reflected, into one of its replies. */
export function reassemble(reply: string, { captures }: Match): string {
  return reply.replace(/\$(\d)/g, (_, index: string) => reflect(captures[Number(index) - 1] ?? 'that'));
}

function clausesOf(message: string): string[] {
  return expandContractions(message.slice(0, MOST_CHARACTERS_READ))
    .split(/[.!?;:,\n\r]+|\s+but\s+/u)
    .map((clause) => clause.trim().replace(/\s+/gu, ' '))
    .filter((clause) => clause !== '');
}

function compile(pattern: string): RegExp {
  const parts = pattern.split(' ').map((part, index, all) => {
    if (part === '*') return index === all.length - 1 ? '(.+)' : '(.+?)';
    return part === '^' || part === '$' ? part : `(?:${part})`;
  });
  const source = parts.join(' ').replace('^ ', '^').replace(/ \$$/, '$');
  return new RegExp(`(?<![\\p{L}\\p{N}'])${source}(?![\\p{L}\\p{N}'])`, 'iu');
}
