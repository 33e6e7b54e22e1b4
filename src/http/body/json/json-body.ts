import { ownTurn, Steps } from '../../../common/event-loop/event-loop-turns.js';
import { ServiceError } from '../../../common/service-error.js';
import { invalidRequest } from '../../request/invalid-request.js';
import { BodyBytes } from '../body-bytes.js';
import { JsonScanner, type JsonExcess, type JsonLimits, type JsonStep } from './json-scanner.js';

/** A text above this size is decoded and parsed in separate turns of the event loop. */
const LONG_BYTES = 128 * 1024;

/**
 * A JSON body while it arrives. Measures each piece before it is parsed, and refuses the body when it first exceeds a
 * limit. No step blocks the event loop for long, including the parsing.
 */
export class JsonBody {
  private readonly bytes = new BodyBytes();
  private readonly scanner: JsonScanner;

  constructor(private readonly limits: JsonLimits) {
    this.scanner = new JsonScanner(limits);
  }

  /**
   * Adds the next piece of the body.
   *
   * @throws {ServiceError} `invalid_request` if the body exceeds a limit. The object must not be used after this error.
   */
  add(piece: Buffer): void {
    this.bytes.add(piece);
    const excess = this.scanner.scan(piece);
    if (excess !== undefined) throw invalidRequest([{ field: this.fieldOf(excess), message: this.problem(excess) }]);
  }

  /**
   * Returns the parsed body.
   *
   * @throws {ServiceError} `invalid_request` if the body is not JSON in UTF-8.
   */
  async value(): Promise<unknown> {
    try {
      const isLong = this.bytes.length > LONG_BYTES;
      const text = isLong ? await this.decodeInSteps() : this.decode();
      const value: unknown = JSON.parse(text);
      // The route handles a long body in a later turn, so that its time does not add to the time of the parser.
      if (isLong) await ownTurn();
      return value;
    } catch {
      throw new ServiceError('invalid_request', 'The body is not valid JSON in UTF-8.');
    }
  }

  private decode(): string {
    const [first, ...others] = this.bytes.all();
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.bytes.all());
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  }

  private async decodeInSteps(): Promise<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const steps = new Steps();
    let text = '';
    for (const block of this.bytes.all()) {
      text += decoder.decode(block, { stream: true });
      if (steps.isOver) await steps.next();
    }
    text += decoder.decode();
    await ownTurn();
    return text;
  }

  private fieldOf({ path }: JsonExcess): string {
    if (path.length === 0) return 'body';
    const text = Buffer.concat(this.bytes.all());
    return path.map((step) => (typeof step === 'number' ? step : this.nameAt(text, step))).join('.');
  }

  private nameAt(text: Buffer, { start, end }: Exclude<JsonStep, number>): string {
    const written = text.toString('utf8', start, Math.min(end, start + this.limits.nameBytes));
    try {
      return JSON.parse(`"${written}"`) as string;
    } catch {
      return written;
    }
  }

  private problem({ limit }: JsonExcess): string {
    const most = this.limits[limit];
    switch (limit) {
      case 'values':
        return `has too many members or items: the body can have at most ${most} in total`;
      case 'depth':
        return `is nested too deeply: the body can have at most ${most} levels`;
      case 'nameBytes':
        return `has a name that is too long: at most ${most} bytes`;
    }
  }
}
