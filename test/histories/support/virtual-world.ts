import { ConsoleLogger, Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { SharedDatabase } from './simulated-database.js';
import { VirtualTime } from './virtual-time.js';

/** Gives each test a clock of its own, which stands still between events. */
export function useVirtualTime(): { readonly time: VirtualTime } {
  const world = { time: new VirtualTime() };
  beforeEach(() => {
    world.time = new VirtualTime();
    world.time.install();
  });
  afterEach(() => {
    world.time.restore();
  });
  return world;
}

/** As {@link useVirtualTime}, with a database that all replicas share. The service logs nothing meanwhile. */
export function useVirtualWorld(): { readonly time: VirtualTime; readonly shared: SharedDatabase } {
  const virtual = useVirtualTime();
  let shared: SharedDatabase | undefined;
  beforeAll(async () => {
    Logger.overrideLogger(false);
    shared = await SharedDatabase.open();
  });
  afterAll(async () => {
    Logger.overrideLogger(new ConsoleLogger());
    await shared?.close();
  });
  return {
    get time() {
      return virtual.time;
    },
    get shared() {
      return shared as SharedDatabase;
    },
  };
}
