import { AppModule, bootstrap } from 'chat-streaming-service';
import { ExamplePlugin } from './example.plugin.js';

await bootstrap(() => AppModule.register({ plugins: [ExamplePlugin] }));
