import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { UseRecorder } from '../credentials/use-recorder.js';
import { Session } from './session.entity.js';

/** Writes `lastSeenAt` of sessions. */
@Injectable()
export class SessionUseRecorder extends UseRecorder<Session> {
  constructor(@InjectRepository(Session) sessions: Repository<Session>, @Inject(CLOCK) now: Clock) {
    super(sessions, 'lastSeenAt', now);
  }
}
