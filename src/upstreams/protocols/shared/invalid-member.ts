import { ServiceError } from '../../../platform/common/service-error.js';

/** A member of a request that a provider could never accept. Another route of the model may accept it, so it is tried. */
export class InvalidMember extends ServiceError {
  /**
   * @param problem the end of a sentence that begins with the name of the member, such as `must not be empty for this model`.
   */
  constructor(
    private readonly member: string,
    private readonly problem: string,
  ) {
    super('invalid_request', `The field ${member} ${problem}.`, { details: [{ field: member, message: problem }] });
  }

  /** Returns the error for the caller, who knows the model by its id. */
  named(modelId: string): ServiceError {
    return new InvalidMember(this.member, this.problem.replace('this model', `the model ${modelId}`));
  }
}
