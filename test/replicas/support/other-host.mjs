// Loaded before the service by NODE_OPTIONS=--import: the process believes that it runs on the host HOST_NAME.
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.hostname = () => process.env.HOST_NAME ?? '';
syncBuiltinESMExports();
