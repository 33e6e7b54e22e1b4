import { Injectable } from '@nestjs/common';
import { Buckets } from '../../common/counts/buckets.js';
import { GapClock } from './gap-clock.js';

/** Milliseconds. */
const BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

/** How long answers keep their clients waiting between two texts, by model; counted once somebody asks for it. */
@Injectable()
export class ChunkGaps {
  readonly byModel = new Map<string, Buckets>();
  private isCounted = false;

  /** From now on. */
  count(): void {
    this.isCounted = true;
  }

  /** For one stream. `model` is one that is served. */
  clock(model: string): GapClock | undefined {
    if (!this.isCounted) return undefined;
    let gaps = this.byModel.get(model);
    if (gaps === undefined) this.byModel.set(model, (gaps = new Buckets(BOUNDS)));
    return new GapClock(gaps);
  }
}
