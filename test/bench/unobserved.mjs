// The service without ledger, metrics and request logs, for the scenario that measures their cost.
// The argument is the folder of the build. It keeps no record of a
// stream, and reports nothing about it. The product has no such mode, because every stream must have a record.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const built = (file) => import(pathToFileURL(resolve(process.argv[2], file)).href);
const { AppModule, bootstrap } = await built('index.js');
const { UsageLedger } = await built('usage/ledger/usage-ledger.js');

const UNKNOWN = { source: 'unknown' };
const NO_RECORD = { inputTokens: UNKNOWN, outputTokens: UNKNOWN };
const NO_ENTRY = {
  started: { id: 'none' },
  stored: Promise.resolve(),
  recordOf: () => NO_RECORD,
  close: () => undefined,
  whenOver: () => undefined,
};

UsageLedger.prototype.begin = () => NO_ENTRY;
UsageLedger.prototype.beforeApplicationShutdown = async () => undefined;

await bootstrap(() => AppModule.register());
