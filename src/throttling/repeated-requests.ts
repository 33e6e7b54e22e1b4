import type { ExecutionContext } from '@nestjs/common';

/** Recognizes requests that repeat an earlier one and are therefore not counted again. The class is the injection token. */
export abstract class RepeatedRequests {
  /**
   * Whether the request repeats an earlier one. Called only for requests that a limit would refuse.
   *
   * @throws {ServiceError} when the request cannot repeat another one because its key is malformed.
   */
  abstract isRepeat(context: ExecutionContext): Promise<boolean>;
}
