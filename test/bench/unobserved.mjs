// The service without ledger, metrics and request logs, for the bench that measures their cost. It keeps no record of a
// stream, and reports nothing about it. The product has no such mode, because every stream must have a record.
import { AppModule, bootstrap } from '../../dist/index.js';
import { UsageLedger } from '../../dist/usage/ledger/usage-ledger.js';

const UNKNOWN = { source: 'unknown' };
const NO_RECORD = { inputTokens: UNKNOWN, outputTokens: UNKNOWN };
const NO_ENTRY = { kept: Promise.resolve(), end: () => NO_RECORD, whenOver: () => undefined };

UsageLedger.prototype.begin = () => NO_ENTRY;
UsageLedger.prototype.beforeApplicationShutdown = async () => undefined;

await bootstrap(() => AppModule.register());
