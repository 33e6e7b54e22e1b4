import { getMetadataStorage, ValidationTypes } from 'class-validator';

type Check = (target: object, value: unknown) => boolean;
type Rules = ReadonlyMap<string, Check>;
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

const compiled = new Map<unknown, Rules | undefined>();

/**
 * Whether an object follows the rules that class-validator knows for its class: no unknown members, and no broken constraint.
 *
 * The constraints are those of class-validator. This function reads their metadata only once for each class and creates no
 * errors, so a valid body costs a tenth. When the result is false, the library must find the errors. The result is also false
 * for a class with a rule that is not supported here, such as an asynchronous constraint.
 *
 * @param value an object of its class, with nested objects of their classes.
 */
export function followsRules(value: object): boolean {
  const rules = rulesOf(value.constructor);
  if (rules === undefined) return false;
  for (const member of Object.keys(value)) if (!rules.has(member)) return false;
  for (const [member, check] of rules) {
    if (!check(value, (value as Readonly<Record<string, unknown>>)[member])) return false;
  }
  return true;
}

function rulesOf(type: unknown): Rules | undefined {
  if (!compiled.has(type)) compiled.set(type, typeof type === 'function' ? compile(type) : undefined);
  return compiled.get(type);
}

function compile(type: NewableFunction): Rules | undefined {
  const storage = getMetadataStorage();
  const members = storage.groupByPropertyName(storage.getTargetValidationMetadatas(type, '', false, false));
  const rules = new Map<string, Check>();
  for (const [member, metadatas] of Object.entries(members)) {
    const conditions: Check[] = [];
    const checks: Check[] = [];
    for (const metadata of metadatas) {
      const isCondition = metadata.type === ValidationTypes.CONDITIONAL_VALIDATION;
      const found = isCondition ? [conditionOf(metadata)] : checksOf(metadata);
      if (found === undefined) return undefined;
      (isCondition ? conditions : checks).push(...found);
    }
    rules.set(member, (target, value) => {
      for (const condition of conditions) if (!condition(target, value)) return true;
      for (const check of checks) if (!check(target, value)) return false;
      return true;
    });
  }
  return rules.size === 0 ? undefined : rules;
}

function conditionOf({ constraints }: Metadata): Check {
  const [condition] = constraints as [(target: object, value: unknown) => unknown];
  return (target, value) => Boolean(condition(target, value));
}

/** Returns `undefined` for a rule that is not supported. */
function checksOf(metadata: Metadata): Check[] | undefined {
  if (metadata.validateIf !== undefined) return undefined;
  switch (metadata.type) {
    case ValidationTypes.WHITELIST:
      return [];
    case ValidationTypes.NESTED_VALIDATION:
      return [nestedFollowsRules];
    case ValidationTypes.CUSTOM_VALIDATION:
      return constraintsOf(metadata);
    default:
      return undefined;
  }
}

function constraintsOf({ constraintCls, constraints, propertyName, each }: Metadata): Check[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => {
      const follows: Check = (object, value) => {
        const given = { targetName: object.constructor.name, property: propertyName, object, value, constraints };
        // An asynchronous constraint returns a promise, so it does not count as followed.
        if (!each || !Array.isArray(value)) return instance.validate(value, given) === true;
        return value.every((item: unknown) => instance.validate(item, given) === true);
      };
      return follows;
    });
}

function nestedFollowsRules(_: object, value: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every((item) => nestedFollowsRules(_, item));
  return typeof value === 'object' && value !== null && followsRules(value);
}
