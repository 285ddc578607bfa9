/*
 * Delays each fsync and fdatasync of one process. LD_PRELOAD loads this library before the C library. The file named by
 * SLOW_DISK has the delay in milliseconds, or "hold", which delays until the file changes. When a delayed sync begins,
 * it appends one byte to the file with the suffix ".entered".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_order(char *order, int size) {
  const char *path = getenv("SLOW_DISK");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  int length = (int)read(file, order, size - 1);
  close(file);
  order[length < 0 ? 0 : length] = '\0';
  return length > 0;
}

static void enter(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s.entered", getenv("SLOW_DISK"));
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, ".", 1) < 0) perror(path);
  close(file);
}

static void delay(void) {
  char order[32];
  if (!read_order(order, sizeof order)) return;
  enter();
  if (strcmp(order, "hold") != 0) usleep(1000 * (useconds_t)atoi(order));
  else while (read_order(order, sizeof order) && strcmp(order, "hold") == 0) usleep(1000);
}

int fsync(int file) {
  delay();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  delay();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
