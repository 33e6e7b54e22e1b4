import type { BodyParser } from '../../http/body/body-class.decorator.js';
import { ApiProperty, ApiPropertyOptional } from '../../http/open-api/api-decorators.js';
import { invalidRequest } from '../../http/request/invalid-request.js';

export const MAX_TOKENS = 500;
const MAX_BYTES = 256 * 1024;
/** A longer text is no key. It is not repeated in the response. */
const MAX_LENGTH = 500;
/** Of the other members. The rest is cut off. */
const MAX_URL_LENGTH = 2_048;

/** A finding, as secret scanners send it. Only `token` is required, and other members are ignored. */
export class LeakReport {
  @ApiProperty({ maxLength: MAX_LENGTH, description: 'The text that was found.' })
  readonly token!: string;

  @ApiPropertyOptional({ description: 'The name that the scanner has for this kind of key.' })
  readonly type?: string;

  @ApiPropertyOptional({ description: 'The public place of the text.' })
  readonly url?: string;

  @ApiPropertyOptional({ description: 'The part of the place, such as `content` or `commit`.' })
  readonly source?: string;
}

/** The answer to one finding. */
export class LeakVerdict {
  @ApiProperty()
  readonly token_raw!: string;

  @ApiProperty({ description: 'The `type` of the report.' })
  readonly token_type!: string;

  @ApiProperty({
    enum: ['true_positive', 'false_positive'],
    description: '`true_positive`: the text is a key of this service, and the key is revoked.',
  })
  readonly label!: 'true_positive' | 'false_positive';
}

/** Parses the body of secret scanners: an array of findings. */
export const LEAK_REPORTS: BodyParser<readonly LeakReport[]> = {
  shape: 'array',
  maxBytes: MAX_BYTES,
  parse(body) {
    const items: readonly unknown[] = Object.values(body);
    if (items.length > MAX_TOKENS) refuse('body', `can have at most ${MAX_TOKENS} items`);
    return items.map((item, index) => {
      const { token, type, url, source } = (item ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof token !== 'string') refuse(`${index}.token`, 'must be a text');
      if (token.length > MAX_LENGTH) refuse(`${index}.token`, `can have at most ${MAX_LENGTH} characters`);
      return { token, type: textOf(type), url: textOf(url), source: textOf(source) };
    });
  },
};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_URL_LENGTH) : '';
}

function refuse(field: string, message: string): never {
  throw invalidRequest([{ field, message }]);
}
