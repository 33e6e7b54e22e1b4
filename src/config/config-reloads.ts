import { Injectable } from '@nestjs/common';

/** Counts how often CONFIG_FILE was read again, for metrics. */
@Injectable()
export class ConfigReloads {
  succeeded = 0;
  /** The file was invalid, and the previous configuration stayed. */
  failed = 0;
}
