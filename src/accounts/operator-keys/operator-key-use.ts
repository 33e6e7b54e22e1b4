import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { UseRecorder } from '../credentials/use-recorder.js';
import { OperatorKey } from './operator-key.entity.js';

/** Writes `lastUsedAt` of operator keys. */
@Injectable()
export class OperatorKeyUse extends UseRecorder<OperatorKey> {
  constructor(@InjectRepository(OperatorKey) keys: Repository<OperatorKey>, @Inject(CLOCK) now: Clock) {
    super(keys, 'lastUsedAt', now);
  }
}
