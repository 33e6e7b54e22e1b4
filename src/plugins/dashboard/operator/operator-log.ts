import { Injectable, Logger } from '@nestjs/common';

/** Who changes what. Of accounts ids only, because addresses must not be in the log. */
interface OperatorChange {
  readonly operatorId: string;
  readonly accountId?: string;
  readonly invitationId?: string;
  readonly keyId?: string;
  readonly operatorKeyId?: string;
  readonly deliveryId?: string;
  readonly webhook?: string;
  readonly tier?: string;
  readonly role?: string;
  readonly upstream?: string;
  readonly model?: string | undefined;
}

/** Writes every change by an operator to the log. */
@Injectable()
export class OperatorLog {
  private readonly logger = new Logger('Operator');

  write(msg: string, change: OperatorChange): void {
    this.logger.log({ msg, ...change });
  }
}
