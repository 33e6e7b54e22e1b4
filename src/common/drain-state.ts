import { Injectable } from '@nestjs/common';

/** Whether this process is stopping: it is then not ready, and takes no new streams. */
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
