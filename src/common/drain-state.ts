import { Injectable } from '@nestjs/common';

/** Stores whether this process is stopping. A stopping process is not ready and accepts no new streams. */
@Injectable()
export class DrainState {
  private begun = false;

  get isDraining(): boolean {
    return this.begun;
  }

  begin(): void {
    this.begun = true;
  }
}
