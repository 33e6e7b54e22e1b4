import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { UseRecorder } from '../credentials/use-recorder.js';
import { ApiKey } from './api-key.entity.js';

/** Writes `lastUsedAt` of API keys. */
@Injectable()
export class LastUsedRecorder extends UseRecorder<ApiKey> {
  constructor(@InjectRepository(ApiKey) keys: Repository<ApiKey>, @Inject(CLOCK) now: Clock) {
    super(keys, 'lastUsedAt', now);
  }
}
