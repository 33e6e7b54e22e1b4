import { Injectable } from '@nestjs/common';

/** Counts the requests of this process that hold one of the concurrent streams of their tier. */
@Injectable()
export class HeldSlots {
  count = 0;
}
