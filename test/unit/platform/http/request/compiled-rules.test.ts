import fc from 'fast-check';
import { plainToInstance, Type } from 'class-transformer';
import {
  Allow,
  IsArray,
  IsInt,
  IsObject,
  IsString,
  Min,
  MinLength,
  Validate,
  validate,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../../../../src/chat/request/chat-request.dto.js';
import { followsRules } from '../../../../../src/platform/http/request/compiled-rules.js';

class Inner {
  @MinLength(1)
  @IsString()
  readonly name!: string;
}

class Outer {
  @ValidateNested({ each: true })
  @IsObject({ each: true })
  @IsArray()
  @Type(() => Inner)
  readonly list!: Inner[];

  @ValidateNested()
  @Type(() => Inner)
  readonly one!: Inner;

  @Min(1)
  @IsInt()
  @ValidateIf((_, value) => value !== undefined)
  readonly count?: number;

  @Allow()
  readonly any?: unknown;
}

const anything = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>;
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: anything });
const inner = mostly(fc.record({ name: mostly(fc.string({ maxLength: 2 })) }));
const outer = fc.record(
  {
    list: mostly(fc.array(inner, { maxLength: 3 })),
    one: inner,
    count: mostly(fc.integer({ min: 0, max: 3 })),
    any: anything,
  },
  { requiredKeys: ['list'] },
);
const message = mostly(fc.record({ role: mostly(fc.constant('user')), content: mostly(fc.string()) }));
const chat = fc.record(
  {
    model: mostly(fc.constantFrom('a/b', 'ab')),
    messages: mostly(fc.array(message, { maxLength: 3 })),
    temperature: mostly(fc.double({ min: -0.1, max: 2.1, noNaN: true })),
    max_tokens: mostly(fc.integer({ min: 0, max: 4 })),
    other: mostly(fc.constant(undefined)),
  },
  { requiredKeys: ['model', 'messages'] },
);

describe('the compiled rules of a class', () => {
  it.each([
    [Outer, outer],
    [ChatRequest, chat],
  ] as const)('of %o accept exactly what class-validator accepts', async (type, values) => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const instance = plainToInstance(type as new () => object, JSON.parse(JSON.stringify(value)) as object);
        const errors = await validate(instance, { whitelist: true, forbidNonWhitelisted: true });
        if (errors.length === 0) accepted++;
        expect(followsRules(instance)).toBe(errors.length === 0);
      }),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(20);
  });

  it('leave an asynchronous constraint, and a class without rules, to the library', () => {
    @ValidatorConstraint({ async: true })
    class Slow implements ValidatorConstraintInterface {
      validate(): Promise<boolean> {
        return Promise.resolve(true);
      }
    }
    class Later {
      @Validate(Slow)
      readonly name!: string;
    }
    expect(followsRules(plainToInstance(Later, { name: 'x' }))).toBe(false);
    expect(followsRules({ name: 'x' })).toBe(false);
  });
});
