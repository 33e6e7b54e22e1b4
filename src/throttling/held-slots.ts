import { Injectable } from '@nestjs/common';

/** How many of its tier's streams at once the requests of this process hold. */
@Injectable()
export class HeldSlots {
  count = 0;
}
