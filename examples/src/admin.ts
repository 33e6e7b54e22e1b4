import { runAdmin } from 'chat-streaming-service';
import { PLUGINS } from './plugins.js';

await runAdmin({ plugins: PLUGINS });
