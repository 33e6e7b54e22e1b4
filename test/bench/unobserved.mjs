// The service without ledger, metrics and request logs, for the bench of what these cost: nothing is kept of a stream, and
// nothing is told of it. Not a mode of the product, where a stream without a record must not exist.
import { AppModule, bootstrap } from '../../dist/index.js';
import { UsageLedger } from '../../dist/usage/ledger/usage-ledger.js';

const UNKNOWN = { source: 'unknown' };
const NO_RECORD = { promptTokens: UNKNOWN, completionTokens: UNKNOWN };
const NO_ENTRY = { kept: Promise.resolve(), end: () => NO_RECORD, whenOver: () => undefined };

UsageLedger.prototype.begin = () => NO_ENTRY;
UsageLedger.prototype.beforeApplicationShutdown = async () => undefined;

await bootstrap(() => AppModule.register());
