import type { z } from 'zod';
import type { ErrorDetail } from '../../../platform/common/service-error.js';
import { UNKNOWN_MEMBER } from '../../../platform/http/request/request-validation.pipe.js';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** Yields the problems that a schema has found, with the paths and the words of the other rules of a request. */
export function* schemaProblems(issues: readonly Issue[], parent: Path = []): Generator<ErrorDetail, void> {
  for (const issue of issues) {
    const path = [...parent, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) yield { field: fieldOf([...path, key]), message: UNKNOWN_MEMBER };
      continue;
    }
    const branch = issue.code === 'invalid_union' ? branchOf(issue.errors) : undefined;
    if (branch === undefined) yield { field: fieldOf(path), message: messageOf(issue) };
    else yield* schemaProblems(branch, path);
  }
}

function fieldOf(path: Path): string {
  return path.map(String).join('.');
}

/** Returns the problems of the alternative whose type the value has. */
function branchOf(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return alternatives.find(([first]) => first !== undefined && !(first.path.length === 0 && isOfTheType(first)));
}

function isOfTheType({ code }: Issue): boolean {
  return code === 'invalid_type' || code === 'invalid_value';
}

function messageOf(issue: Issue): string {
  if (isMissing(issue)) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? `a valid ${issue.expected}`}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return Number(issue.minimum) === 1 && issue.origin !== 'number' && issue.origin !== 'int'
        ? 'must not be empty'
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must ${LIMITED[issue.origin] ?? 'be'} at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** Whether the value is missing. Only a schema that reports the input shows this. */
function isMissing(issue: Issue): boolean {
  return 'input' in issue && issue.input === undefined;
}

const TYPES: Readonly<Partial<Record<string, string>>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

/** What a maximum limits, by the kind of the value. */
const LIMITED: Readonly<Partial<Record<string, string>>> = { array: 'contain', string: 'have a length of' };
