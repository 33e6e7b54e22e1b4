import { AppModule, bootstrap } from 'chat-streaming-service';
import { PLUGINS } from './plugins.js';

await bootstrap(() => AppModule.register({ plugins: PLUGINS }));
