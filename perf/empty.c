/* empty.c -- a process that does nothing: what starting one takes. */
int main(void)
{
    return 0;
}
