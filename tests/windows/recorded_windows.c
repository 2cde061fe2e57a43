/* mqrt.dll, and what MsmqAgent.cs calls of kernel32.dll and advapi32.dll: each function records its arguments and answers
 * as MSMQ would. Declarations are those of mq.h (learn.microsoft.com, Message Queuing functions); a PROPVARIANT is 8 bytes
 * and two pointers long (MS-MQMQ 2.2.13). */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_NOT_FOUND ((int32_t)0xC00E0003)
#define VARIANT (8 + 2 * (int)sizeof(void *))

typedef struct {
    int32_t count;
    int32_t *identifiers;
    char *values;
    int32_t *statuses;
} Properties;

static int open_handles = 100, allocated;

static void record(const char *said)
{
    FILE *file = fopen(getenv("MQ_RECORD"), "a");
    if (file == NULL)
        abort();
    fprintf(file, "%s\n", said);
    fclose(file);
}

static const char *ascii(const uint16_t *text)
{
    static char shown[4][200];
    static int next;
    char *to = shown[next++ % 4];
    int i = 0;
    for (; text != NULL && text[i] != 0 && i < 199; i++)
        to[i] = (char)text[i];
    to[i] = 0;
    return to;
}

static uint16_t *wide(const char *text)
{
    uint16_t *made = calloc(strlen(text) + 1, sizeof *made);
    for (size_t i = 0; text[i] != 0; i++)
        made[i] = (uint16_t)text[i];
    allocated++;
    return made;
}

static void put_text(char *value, const char *text)
{
    *(uint16_t *)value = 31; /* VT_LPWSTR */
    *(uint16_t **)(value + 8) = wide(text);
}

static void put_texts(char *value, const char *first, const char *second)
{
    uint16_t **texts = calloc(2, sizeof *texts);
    allocated++;
    texts[0] = wide(first);
    texts[1] = wide(second);
    *(uint16_t *)value = 0x1000 | 31;
    *(uint32_t *)(value + 8) = 2;
    *(uint16_t ***)(value + 8 + sizeof(void *)) = texts;
}

static void put_number(char *value, uint32_t number)
{
    *(uint16_t *)value = 19; /* VT_UI4 */
    *(uint32_t *)(value + 8) = number;
}

int32_t MQMgmtAction(const uint16_t *machine, const uint16_t *target, const uint16_t *action)
{
    char said[600];
    snprintf(said, sizeof said, "MQMgmtAction %s: %s", ascii(target), ascii(action));
    record(said);
    return strstr(ascii(target), "nowhere") != NULL ? QUEUE_NOT_FOUND : 0;
}

int32_t MQMgmtGetInfo(const uint16_t *machine, const uint16_t *target, Properties *asked)
{
    const char *named = ascii(target);
    char said[600];
    int size = snprintf(said, sizeof said, "MQMgmtGetInfo %s:", named);
    for (int i = 0; i < asked->count; i++) {
        char *value = asked->values + i * VARIANT;
        size += snprintf(said + size, sizeof said - size, " %d", asked->identifiers[i]);
        if (*(uint16_t *)value != 1) /* VT_NULL */
            return (int32_t)0xC00E0006;
        if (strcmp(named, "MACHINE") == 0 && asked->identifiers[i] == 1)
            put_texts(value, "DIRECT=OS:there\\private$\\far", "DIRECT=OS:here\\private$\\near");
        else if (strcmp(named, "MACHINE") == 0 && asked->identifiers[i] == 2)
            put_texts(value, "here\\private$\\near", "here\\private$\\other");
        else if (asked->identifiers[i] == 4)
            put_text(value, strstr(named, "far") != NULL ? "REMOTE" : "LOCAL");
        else if (asked->identifiers[i] == 11)
            put_text(value, "DISCONNECTED");
        else
            put_number(value, 40 + (uint32_t)asked->identifiers[i]);
    }
    record(said);
    return 0;
}

void MQFreeMemory(void *memory)
{
    free(memory);
    if (--allocated == 0)
        record("MQFreeMemory: all");
}

int32_t MQOpenQueue(const uint16_t *name, int32_t access, int32_t share, void **handle)
{
    char said[300];
    snprintf(said, sizeof said, "MQOpenQueue %s access %d share %d", ascii(name), access, share);
    record(said);
    *handle = (void *)(intptr_t)++open_handles;
    return 0;
}

int32_t MQCloseQueue(void *handle)
{
    char said[80];
    snprintf(said, sizeof said, "MQCloseQueue %d", (int)(intptr_t)handle);
    record(said);
    return 0;
}

int32_t MQMoveMessage(void *source, void *target, uint64_t lookup, void *transaction)
{
    char said[160];
    snprintf(said, sizeof said, "MQMoveMessage %d to %d: %llu %s", (int)(intptr_t)source, (int)(intptr_t)target,
             (unsigned long long)lookup, transaction == NULL ? "alone" : "in a transaction");
    record(said);
    return 0;
}

int32_t MQMarkMessageRejected(void *queue, uint64_t lookup)
{
    char said[80];
    snprintf(said, sizeof said, "MQMarkMessageRejected %d: %llu", (int)(intptr_t)queue, (unsigned long long)lookup);
    record(said);
    return 0;
}

int32_t CancelIoEx(void *handle, void *overlapped)
{
    char said[80];
    snprintf(said, sizeof said, "CancelIoEx %d", (int)(intptr_t)handle);
    record(said);
    return 1;
}

int32_t ChangeServiceConfigW(void *service, int32_t type, int32_t start, int32_t errors, const uint16_t *path,
                             const uint16_t *group, void *tag, const uint16_t *needs, const uint16_t *user,
                             const uint16_t *password, const uint16_t *name)
{
    char said[80];
    snprintf(said, sizeof said, "ChangeServiceConfig %d: type %d start %d", (int)(intptr_t)service, type, start);
    record(said);
    return 1;
}
